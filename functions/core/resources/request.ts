import * as z from 'zod/mini';
import { checkId } from '../adoption-request.ts';
import { shown } from '../faults.ts';
import { LEAST_SERVICE_TIMEOUT_SECONDS, SERVICE_TIMEOUT_SECONDS } from '../limits.ts';
import { readRequest } from '../request.ts';

const named = z.string().check(z.minLength(1));
const matching = (pattern: RegExp, wanted: string) =>
  z.string().check(z.regex(pattern, { error: ({ input }) => `must be ${wanted}, not ${shown(input)}` }));
const properties = z.record(z.string(), z.unknown());

/** What CloudFormation sends to the provider of a custom resource, as far as it is used. Its names are CloudFormation's. */
export const resourceRequest = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  /** Where the answer is PUT: whoever has this URL can answer, so it is never logged. */
  ResponseURL: z.string().check(z.startsWith('https://')),
  StackId: named,
  RequestId: named,
  LogicalResourceId: named,
  ResourceType: named,
  PhysicalResourceId: z.optional(named),
  ResourceProperties: properties,
  OldResourceProperties: z.optional(properties),
  /** What an execution that has ended without an answer has ended with: this request only has to be answered. */
  ended: z.optional(z.object({ error: named, cause: z.string() })),
});
export type ResourceRequest = z.output<typeof resourceRequest>;

/** CloudFormation sends every value as text. */
const flag = z.pipe(
  z.enum(['true', 'false']),
  z.transform((value: 'true' | 'false') => value === 'true'),
);

/** Every custom resource has these, and they are read apart. */
const common = { ServiceToken: z.optional(z.unknown()), ServiceTimeout: z.optional(z.unknown()) };

/** A tag, and so whatever carries it, or instances by name. */
export const associationProperties = z
  .strictObject({
    ...common,
    CheckId: checkId,
    Tag: z.optional(z.strictObject({ Key: named, Value: z.string() })),
    InstanceIds: z.optional(
      // GUIDE (quotas): a check has 50 associations.
      z
        .array(matching(/^i-[0-9a-f]{8,17}$/, 'an instance id such as i-0123456789abcdef0'))
        .check(z.minLength(1), z.maxLength(50)),
    ),
  })
  .check(
    z.refine(({ Tag, InstanceIds }) => (Tag === undefined) !== (InstanceIds === undefined), {
      error: 'must have exactly one of Tag and InstanceIds',
    }),
  );
export type AssociationProperties = z.output<typeof associationProperties>;

export const guardProperties = z.strictObject({
  ...common,
  SecurityGroupId: matching(/^sg-[0-9a-f]{8,17}$/, 'the id of a security group such as sg-0123456789abcdef0'),
});

export const cleanUpProperties = z.strictObject({
  ...common,
  Force: z._default(flag, false),
  /** What the template has deleted after it: CloudFormation needs to know, and nobody else. */
  After: z.optional(z.unknown()),
});

const seconds = (least: number) =>
  z.coerce.number().check(z.int(), z.minimum(least), z.maximum(SERVICE_TIMEOUT_SECONDS));

/** With less than the least there would be no time left to wait in. A deletion is never refused for it. */
const timeOuts = {
  wanted: z.object({
    ServiceTimeout: z._default(seconds(LEAST_SERVICE_TIMEOUT_SECONDS), SERVICE_TIMEOUT_SECONDS),
  }),
  deleted: z.object({ ServiceTimeout: z.catch(seconds(1), SERVICE_TIMEOUT_SECONDS) }),
};

/** How long CloudFormation waits for the answer, in seconds. @throws InvalidRequest */
export const serviceTimeoutOf = ({ RequestType, ResourceProperties }: ResourceRequest): number =>
  readRequest(RequestType === 'Delete' ? timeOuts.deleted : timeOuts.wanted, ResourceProperties)
    .ServiceTimeout;

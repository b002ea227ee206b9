import * as z from 'zod/mini';
import { checkId } from './adoption-request.ts';
import { shown } from './faults.ts';
import { LONGEST_RETIREMENT_SECONDS, RETIREMENT_SECONDS } from './limits.ts';

const securityGroupId = z.string().check(
  z.regex(/^sg-[0-9a-f]{8,17}$/, {
    error: ({ input }) =>
      `must be the id of a security group such as sg-0123456789abcdef0, not ${shown(input)}`,
  }),
);

const UNNAMED = 'must name a check to retire, or security groups: checkId, securityGroupIds or both';

/** What a caller asks of retire-check. */
export const retirementRequest = z
  .strictObject({
    /** The check to delete; its interfaces are waited for. One that is not there any more is success. */
    checkId: z.optional(checkId),
    /** The groups to delete besides those that carry the tag quiesce-delete-when-free; each has to carry the opt-in tag. */
    securityGroupIds: z._default(z.array(securityGroupId).check(z.maxLength(50)), []),
    /** How long what holds a group, or lingers, is waited for. */
    limitSeconds: z._default(
      z.int().check(z.minimum(60), z.maximum(LONGEST_RETIREMENT_SECONDS)),
      RETIREMENT_SECONDS,
    ),
    /** The check is not touched: only what it does not need any more is retired. */
    keepCheck: z._default(z.boolean(), false),
  })
  .check(
    z.refine(
      ({ checkId, securityGroupIds }) => checkId !== undefined || securityGroupIds.length > 0,
      UNNAMED,
    ),
  );
export type RetirementRequest = z.output<typeof retirementRequest>;

/** What the sweep starts retire-check with: a retirement whose execution is gone is gone on with by this one. */
export const abandonedRetirement = z.strictObject({
  subject: z.string().check(z.minLength(1)),
  /** The execution that owned it. */
  from: z.string().check(z.minLength(1)),
});

/** What a retirement is known by: one of each is at work at a time. */
export const subjectOf = ({
  checkId,
  securityGroupIds,
}: {
  readonly checkId?: string | undefined;
  readonly securityGroupIds: readonly string[];
}): string => checkId ?? securityGroupIds.toSorted().join('+');

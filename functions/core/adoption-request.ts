import * as z from 'zod/mini';
import { shown } from './faults.ts';

const named = z.string().check(z.minLength(1));
const count = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most));

/** A check that is created, in CreateApplicationStatusCheck's own limits (SDK client-ec2); thresholds have no documented maximum. */
const newCheck = z.strictObject({
  protocol: z.enum(['http', 'https']),
  port: count(1, 65_535),
  path: z._default(z.string().check(z.startsWith('/')), '/'),
  /** Codes and ranges that count as success, such as `200,300-399`. */
  matcher: z._default(z.string().check(z.minLength(1), z.maxLength(64)), '200'),
  timeoutSeconds: z._default(count(1, 30), 6),
  failureThreshold: z._default(count(1, 60), 2),
  successThreshold: z._default(count(1, 60), 2),
  /** Counted from the launch of an instance: longer than its start-up. */
  graceSeconds: z._default(count(1, 600), 300),
});
export type NewCheck = z.output<typeof newCheck>;

export const checkId = z.string().check(
  z.regex(/^asc-[0-9a-f]{8,17}$/, {
    error: ({ input }) => `must be the id of a check such as asc-0123456789abcdef0, not ${shown(input)}`,
  }),
);
const existingCheck = z.strictObject({ id: checkId });

/** What a caller asks of promote-check. */
export const adoptionRequest = z.strictObject({
  autoScalingGroupName: named,
  /** One that is created, or one that exists, is excluded, and is associated with nothing yet or with this group alone. */
  check: z.union([existingCheck, newCheck], {
    error: 'must be {id} of an existing check, or {protocol, port, ...} of one to create',
  }),
  /** How many instances are observed first, spread over the zones; one a zone unless given. With the whole group's, a check may have 50 associations. */
  sample: z.optional(count(1, 49)),
  /** Evaluations in a row that every instance has to pass, first in the sample and then in the whole group. */
  evaluations: z._default(
    z.int().check(z.minimum(2, 'must be at least 2: one evaluation is no evidence'), z.maximum(60)),
    2,
  ),
  /** Least time in which each of the two observations has to succeed. */
  observeSeconds: z._default(count(60, 7200), 900),
  /** How long the check is watched after its promotion. Auto Scaling acts about 190 s after `impaired`, measured. */
  watchSeconds: z._default(count(300, 7200), 600),
  /** More impaired instances than this, in percent of the group, demote the check again. */
  impairedPercent: z._default(count(0, 100), 10),
});
export type AdoptionRequest = z.output<typeof adoptionRequest>;

/** What the sweep starts promote-check with: an adoption whose execution is gone is undone by this one. */
export const abandonedAdoption = z.strictObject({
  autoScalingGroupName: named,
  /** The execution that owned it. */
  from: named,
  error: named,
  cause: named,
});

import {
  applicationStatusChecks,
  applicationStatuses,
  everyApplicationStatus,
} from '../aws/application-status.ts';
import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import { allChecks } from '../aws/checks.ts';
import { targetGroups } from '../aws/elastic-load-balancing.ts';
import type { InstanceFacts } from '../aws/instances.ts';
import { contradictionsOf } from '../domain/contradictions.ts';
import { pathEndOf } from '../domain/ingress.ts';
import {
  type CheckCounts,
  type FirstPass,
  groupWarnings,
  type MonthlyCost,
  measuredStartUp,
  monthlyCost,
  quotaWarnings,
} from '../domain/precheck.ts';

/** The check that is to be adopted. */
export interface Adoptee {
  /** Absent when it is to be created. */
  readonly id: string | undefined;
  readonly path: string;
  readonly matcher: string;
  readonly graceSeconds: number;
}

export interface Precheck {
  readonly cost: MonthlyCost;
  /** Sentences: no reason to refuse an adoption, which rests on what is observed, and one to look. */
  readonly warnings: readonly string[];
}

/** Says beforehand what an adoption will cost, what its settings contradict, and which quota it may not fit in. Reads only. */
export async function precheck(
  check: Adoptee,
  group: AutoScalingGroupFacts,
  instances: readonly InstanceFacts[],
  quotas: CheckCounts,
): Promise<Precheck> {
  const attached = await targetGroups(group.targetGroupArns);
  const startUpSeconds = measuredStartUp(await firstPasses(instances));
  const contradictions = contradictionsOf({
    groups: attached.map(({ name, healthCheck: { path, matcher, ...times } }) => ({
      ...times,
      name,
      path,
      matcher,
    })),
    checks: [{ ...check, name: check.id ?? 'The check' }],
    application: {
      groupGraceSeconds: group.healthCheckGraceSeconds,
      ...(startUpSeconds !== undefined && { startUpSeconds }),
    },
  });
  const targets = (await everyApplicationStatus()).reduce((sum, { checks }) => sum + checks.length, 0);
  const after = {
    checks: (await allChecks()).length + (check.id === undefined ? 1 : 0),
    associations: (await checkAssociations()).length + 1,
    targets: targets + instances.length,
  };
  return {
    cost: monthlyCost(instances.map(pathEndOf)),
    warnings: [
      ...contradictions,
      ...group.targetGroupArns
        .filter(arn => !attached.some(one => one.arn === arn))
        .map(arn => `${group.name}: its target group ${arn} is gone, so what it asks is not known.`),
      ...groupWarnings(group, check.graceSeconds),
      ...quotaWarnings(after, quotas),
    ],
  };
}

/** How the checks that are there already came to pass on these instances. */
async function firstPasses(instances: readonly InstanceFacts[]): Promise<FirstPass[]> {
  const statuses = await applicationStatuses(instances.map(({ id }) => id));
  const ids = [...statuses.values()].flatMap(({ checks }) => checks.map(({ checkId }) => checkId));
  const checks = await applicationStatusChecks([...new Set(ids)]);
  return instances.flatMap(({ id, launchedAt }) =>
    (statuses.get(id)?.checks ?? []).flatMap(({ checkId, status, since }) => {
      const check = checks.get(checkId);
      if (status !== 'passed' || !since || !launchedAt || !check?.changedAt) return [];
      return [
        {
          ...check,
          launchedAt: launchedAt.getTime(),
          since: since.getTime(),
          checkChangedAt: check.changedAt.getTime(),
        },
      ];
    }),
  );
}

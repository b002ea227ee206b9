import type { CheckFacts } from '../aws/application-status.ts';
import { diagnose } from '../domain/diagnosis.ts';
import { observedCheck } from '../domain/observed-fleet.ts';
import type { Member } from './members.ts';

/** What is wrong with the instances by this check alone, in the sentences of `quiesce diagnose`; each begins with a space. */
export function diagnosisBy(check: CheckFacts, members: readonly Member[]): string {
  const instances = members.map(({ instanceId, zone, launchedAt, status }) => ({
    instanceId,
    zone,
    suppressed: status?.status === 'suppressed',
    checks: (status?.checks ?? [])
      .filter(({ checkId }) => checkId === check.id)
      .map(result => observedCheck(result, launchedAt, check)),
    targets: [],
  }));
  return diagnose({ instances, groups: [] })
    .findings.map(({ summary }) => ` ${summary}`)
    .join('');
}

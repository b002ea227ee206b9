import { applicationStatusChecks } from '../aws/application-status.ts';
import { type Demotion, forgetDemotion } from '../ledger/demotions.ts';

/** Forgets the demotions of checks that are gone: nobody can include them again. */
export async function forgetGoneDemotions(
  demotions: readonly Pick<Demotion, 'checkId' | 'at'>[],
): Promise<void> {
  const there = await applicationStatusChecks(demotions.map(({ checkId }) => checkId));
  for (const demotion of demotions) if (!there.has(demotion.checkId)) await forgetDemotion(demotion);
}

import { type News, NOTHING } from '../bracket/tell.ts';
import {
  announceDemotion,
  type DemotionDetail,
  type DemotionTopic,
} from '../domain/demotion-announcement.ts';
import { findDemotion, markDemotionTold } from '../ledger/demotions.ts';

/** What people are to be told of a check that the loop breaker has demoted, or would have; nothing twice, but that it was again. */
export async function composeOnDemotion(
  checkId: string,
  what: DemotionTopic,
  at: number,
): Promise<News<DemotionDetail>> {
  const demotion = await findDemotion(checkId);
  if (demotion?.at !== at || demotion.told.includes(what)) return NOTHING;
  return { isNews: true, what, ...announceDemotion({ ...demotion, what }) };
}

/** People were told. Written afterwards, so that what fails in between is told again (at least once). */
export async function rememberOnDemotion(checkId: string, what: string): Promise<{ readonly told: boolean }> {
  return { told: await markDemotionTold(checkId, what) };
}

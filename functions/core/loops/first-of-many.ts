import { beginLook } from '../ledger/demotions.ts';
import { nowSeconds } from '../time.ts';

/** What a look has just shown an alarm that rings meanwhile does not change, and the schedule looks again. Ours. */
const APART_SECONDS = 20;

/** Of the alarms of a whole group, which ring at once, one has the account read. */
export const isFirstOfMany = (): Promise<boolean> => beginLook(nowSeconds(), APART_SECONDS);

const SHORTEST_WAIT_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 300;

/**
 * Until the next look: a quarter of the time that it has lasted, so that what goes at once is seen at once and a wait of hours
 * costs few looks (R-HISTORY). Never past the deadline; 0 when that is over.
 */
export function growingWait(nowSeconds: number, sinceSeconds: number, deadlineSeconds: number): number {
  if (nowSeconds >= deadlineSeconds) return 0;
  const grown = Math.ceil((nowSeconds - sinceSeconds) / 4);
  const wait = Math.min(LONGEST_WAIT_SECONDS, Math.max(SHORTEST_WAIT_SECONDS, grown));
  return Math.max(1, Math.min(wait, Math.ceil(deadlineSeconds - nowSeconds)));
}

import type { Member } from '../domain/fleet.ts';
import { ZoneEvent } from '../errors.ts';
import type { ZoneView } from '../ledger/zone-views.ts';

/** A view that is older says nothing of now: the next one is due after a minute. */
const FRESH_SECONDS = 300;

/**
 * Refuses to take more out of a fleet of which a whole zone fails already. Work on targets that receive nothing makes it no
 * worse, and work on all that fail is repair, whatever else it takes along: neither is refused (D37).
 *
 * @param now seconds since the epoch
 * @throws ZoneEvent
 */
export function refuseZoneEvents(
  members: readonly Member[],
  views: ReadonlyMap<string, ZoneView>,
  now: number,
): void {
  const ids = new Set(members.flatMap(({ instanceId, addresses }) => [instanceId, ...addresses]));
  const isTaken = (key: string) => ids.has(key.slice(0, key.lastIndexOf(':')));
  for (const { event, group, summary, at } of views.values()) {
    if (!event || at < now - FRESH_SECONDS) continue;
    if (!event.receiving.some(isTaken) || event.failing.every(isTaken)) continue;
    throw new ZoneEvent(
      `A whole zone of target group ${group} fails, ${event.zone}, and the deployment would take more out of it. ${summary} Wait until it is over; deploy to all that fails to repair it; or say policy.zoneEvents: ignore.`,
    );
  }
}

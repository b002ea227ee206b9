import type { Member } from '../domain/fleet.ts';
import { ZoneEvent } from '../errors.ts';
import type { ZoneView } from '../ledger/zone-views.ts';

/** A view that is older says nothing of now: the next one is due after a minute. */
const FRESH_SECONDS = 300;

/**
 * Refuses to take more out of a fleet of which a whole zone fails already. Work on that zone alone is repair, and never refused
 * (D37).
 *
 * @param now seconds since the epoch
 * @throws ZoneEvent
 */
export function refuseZoneEvents(
  members: readonly Member[],
  views: ReadonlyMap<string, ZoneView>,
  now: number,
): void {
  for (const { class: kind, zone, group, summary, at } of views.values()) {
    const isNow = kind === 'one-zone' && at >= now - FRESH_SECONDS;
    if (!isNow || members.every(member => member.zone === zone)) continue;
    throw new ZoneEvent(
      `A whole zone of target group ${group} fails, ${zone}, and the deployment would take more out of it. ${summary} Wait until it is over; deploy to ${zone} alone to repair it; or say policy.zoneEvents: ignore.`,
    );
  }
}

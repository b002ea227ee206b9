import { locateAddresses, zoneOfAddress } from '../aws/instances.ts';

/** Where a target is, and whose address it has. */
export interface Place {
  readonly zone: string;
  readonly instanceId?: string;
}

/** No interface has the address now, or several of different zones have, in VPCs that overlap. */
const UNKNOWN: Place = { zone: 'unknown' };

export const placeOf = (places: ReadonlyMap<string, Place>, target: string): Place =>
  places.get(addressOf(target)) ?? UNKNOWN;

/** Where targets (`10.0.1.20:8080`) are, by their addresses. */
export async function placesOf(targets: readonly string[]): Promise<ReadonlyMap<string, Place>> {
  const addresses = [...new Set(targets.map(addressOf))].filter(address => IPV4.test(address));
  const places = new Map<string, Place>();
  for (const { address, ...place } of await locateAddresses(addresses)) {
    const known = places.get(address);
    if (!known) places.set(address, place);
    else places.set(address, known.zone === place.zone ? { zone: known.zone } : UNKNOWN);
  }
  return places;
}

/** The zone of a load balancer node: of an internet-facing one the logs have the public address (UG, of access logs). */
export const zoneOfNode = async (address: string): Promise<string> =>
  (IPV4.test(address) ? await zoneOfAddress(address) : undefined) ?? UNKNOWN.zone;

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

const addressOf = (target: string): string => target.slice(0, Math.max(0, target.lastIndexOf(':')));

import { checkInterfaces, interfacesById } from '../aws/network-interfaces.ts';
import type { InterfaceFacts } from '../domain/group-blockers.ts';
import { type KnownInterface, knownInterfaces } from '../ledger/check-interfaces.ts';

/** An interface from which checks are asked, with what is remembered of it. */
export type RememberedInterface = InterfaceFacts & { readonly known: KnownInterface | undefined };

/**
 * Every interface from which checks are asked: as EC2 lists them, and those that CloudTrail has told of and that are hidden all
 * the same by their ids.
 */
export async function everyCheckInterface(): Promise<RememberedInterface[]> {
  const listed = await checkInterfaces();
  const known = new Map((await knownInterfaces()).map(one => [one.id, one]));
  const unlisted = [...known.keys()].filter(id => !listed.some(one => one.id === id));
  const hidden = await interfacesById(unlisted);
  return [...listed, ...hidden].map(one => ({ ...one, known: known.get(one.id) }));
}

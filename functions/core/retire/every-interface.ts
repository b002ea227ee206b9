import { checkInterfaces, interfacesById } from '../aws/network-interfaces.ts';
import type { InterfaceUse } from '../domain/check-interfaces.ts';
import type { InterfaceFacts } from '../domain/group-blockers.ts';
import { type KnownInterface, knownInterfaces } from '../ledger/check-interfaces.ts';

/** An interface from which checks are asked, with what is remembered of it. */
export type RememberedInterface = InterfaceFacts & { readonly known: KnownInterface | undefined };

export interface EveryInterface {
  readonly there: readonly RememberedInterface[];
  /** Those that are remembered and are not there any more. */
  readonly gone: readonly KnownInterface[];
}

/**
 * Every interface from which checks are asked: as EC2 lists them, and those that CloudTrail has told of and that are hidden all
 * the same by their ids.
 */
export async function everyCheckInterface(): Promise<EveryInterface> {
  const listed = await checkInterfaces();
  const known = await knownInterfaces();
  const isListed = ({ id }: KnownInterface) => listed.some(one => one.id === id);
  const hidden = await interfacesById(known.filter(one => !isListed(one)).map(({ id }) => id));
  const there = [...listed, ...hidden].map(one => ({ ...one, known: known.find(({ id }) => id === one.id) }));
  return { there, gone: known.filter(({ id }) => !there.some(one => one.id === id)) };
}

/** The groups from which checks were asked that will ask again: nobody who is not told to deletes them. */
export function awaitedGroups({ there, gone }: EveryInterface, use: InterfaceUse): ReadonlySet<string> {
  const remembered = [...there.flatMap(({ known }) => known ?? []), ...gone];
  return new Set(
    remembered.flatMap(({ checkIds, securityGroupIds }) => (use.isAwaited(checkIds) ? securityGroupIds : [])),
  );
}

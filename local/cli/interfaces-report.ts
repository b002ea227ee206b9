import { hourlyCost, type InterfaceUse } from '../../functions/core/domain/check-interfaces.ts';
import type { RememberedInterface } from '../../functions/core/retire/every-interface.ts';
import { counted, hours, table, wrap } from './format.ts';

/** One interface from which checks are asked. */
export interface ListedInterface {
  readonly interfaceId: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  /** The checks that need it; of one that lingers those that last did, where the ledger knows. */
  readonly checkIds: readonly string[];
  readonly use: 'in use' | 'lingering';
  /** Since when it is there; null where EC2 does not say. */
  readonly ageSeconds: number | null;
  /** Since when no check was seen to need it; null unless the ledger knows. */
  readonly lingeringSeconds: number | null;
  readonly usDollarsPerHour: number;
}

/** What `quiesce interfaces --json` prints. */
export interface InterfacesReport {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.interfaces/1';
  readonly interfaces: readonly ListedInterface[];
  readonly lingering: number;
  readonly usDollarsPerHour: number;
}

/** @param now in milliseconds since the epoch */
export function reportInterfaces(
  found: readonly RememberedInterface[],
  use: InterfaceUse,
  now: number,
): InterfacesReport {
  const interfaces = found.map((one): ListedInterface => {
    const users = use.usersOf(one);
    const isUsed = users.length > 0;
    const { checkIds = [], lingersSince } = one.known ?? {};
    return {
      interfaceId: one.id,
      subnetId: one.subnetId,
      securityGroupIds: one.securityGroupIds,
      checkIds: isUsed ? users : checkIds,
      use: isUsed ? 'in use' : 'lingering',
      ageSeconds: one.attachedAt ? Math.floor((now - one.attachedAt.getTime()) / 1000) : null,
      lingeringSeconds: isUsed || lingersSince === undefined ? null : Math.floor(now / 1000) - lingersSince,
      usDollarsPerHour: hourlyCost(1),
    };
  });
  return {
    format: 'quiesce.interfaces/1',
    interfaces,
    lingering: interfaces.filter(one => one.use === 'lingering').length,
    usDollarsPerHour: hourlyCost(interfaces.length),
  };
}

const UNKNOWN_SINCE =
  'Of some that linger it is not known since when, nor for which checks they were: the ledger (--table) has it where the parameter InterfaceWatch of the stack is Enabled.';

/** The report as a person reads it. */
export function describeInterfaces({ interfaces, lingering, usDollarsPerHour }: InterfacesReport): string {
  if (interfaces.length === 0) return 'No application status check has an interface here.\n';
  const rows = interfaces.map(one => [
    one.interfaceId,
    one.subnetId,
    one.securityGroupIds.join(','),
    one.lingeringSeconds === null ? one.use : `${one.use} for ${hours(one.lingeringSeconds * 1000)}`,
    one.checkIds.join(',') || '-',
    one.ageSeconds === null ? '-' : hours(one.ageSeconds * 1000),
    one.usDollarsPerHour.toFixed(2),
  ]);
  const heads = ['interface', 'subnet', 'security group', 'use', 'checks', 'age', '$ an hour'];
  return [
    ...table([heads, ...rows], 'to the left'),
    '',
    `${counted(interfaces.length, 'interface')}, ${lingering} of them lingering: ${usDollarsPerHour.toFixed(2)} US dollars an hour.`,
    ...(interfaces.some(one => one.use === 'lingering' && one.lingeringSeconds === null)
      ? wrap(UNKNOWN_SINCE, 98)
      : []),
    '',
  ].join('\n');
}

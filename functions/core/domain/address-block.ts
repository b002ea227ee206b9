/** A CIDR block of IPv4 or IPv6: its first address as a number, and how many addresses it has. */
export interface AddressBlock {
  readonly version: 'ipv4' | 'ipv6';
  readonly first: bigint;
  readonly size: bigint;
}

/** @returns undefined when `text` is not a block such as `10.0.0.0/16` or `2001:db8::/56` */
export function addressBlock(text: string): AddressBlock | undefined {
  const [, address = '', length = ''] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = address.includes(':') ? 'ipv6' : 'ipv4';
  const width = version === 'ipv4' ? 32 : 128;
  const number = version === 'ipv4' ? ipv4(address) : ipv6(address);
  if (number === undefined || Number(length) > width) return undefined;
  const size = 1n << BigInt(width - Number(length));
  return { version, first: number - (number % size), size };
}

export const contains = (outer: AddressBlock, inner: AddressBlock): boolean =>
  outer.version === inner.version &&
  outer.first <= inner.first &&
  inner.first + inner.size <= outer.first + outer.size;

export const overlap = (one: AddressBlock, other: AddressBlock): boolean =>
  one.version === other.version && one.first < other.first + other.size && other.first < one.first + one.size;

function ipv4(text: string): bigint | undefined {
  const bytes = text.split('.');
  if (bytes.length !== 4 || !bytes.every(byte => /^\d{1,3}$/.test(byte) && Number(byte) <= 255))
    return undefined;
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

/** Eight groups of hexadecimal digits; one run of zero groups may be written as `::`. */
function ipv6(text: string): bigint | undefined {
  const halves = text.split('::').map(half => (half === '' ? [] : half.split(':')));
  const [head = [], tail] = halves;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length > 2 || (tail ? missing < 1 : missing !== 0)) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])];
  if (!groups.every(group => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

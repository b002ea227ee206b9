/** A block of IPv4 addresses: the first one as a number, and how many there are. */
export interface Cidr {
  readonly text: string;
  readonly first: number;
  readonly size: number;
}

/** @throws Error when `text` is not an IPv4 block such as `10.0.0.0/16` */
export function parseCidr(text: string): Cidr {
  const [address = '', length = ''] = text.split('/');
  const bytes = address.split('.').map(Number);
  const bits = Number(length);
  const valid =
    bytes.length === 4 &&
    bytes.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255) &&
    /^\d+$/.test(length) &&
    bits <= 32;
  if (!valid) throw new Error(`'${text}' is not an IPv4 CIDR block`);
  const size = 2 ** (32 - bits);
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return { text, first: number - (number % size), size };
}

export const holds = (outer: Cidr, inner: Cidr): boolean =>
  outer.first <= inner.first && inner.first + inner.size <= outer.first + outer.size;

export function addressAt(block: Cidr, index: number): string {
  const number = block.first + index;
  return [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.');
}

import type { Random } from '../clock/random.ts';

const eightDigits = (random: Random): string =>
  Math.floor(random.next() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');

/** An id in EC2's form: `i-` and 17 hexadecimal digits. */
export const resourceId = (prefix: string, random: Random): string =>
  `${prefix}-0${eightDigits(random)}${eightDigits(random)}`;

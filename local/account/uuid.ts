import type { Random } from '../clock/random.ts';

/** A version 4 UUID drawn from the world's seed. */
export function uuid(random: Random): string {
  const draw = (count: number) =>
    Array.from({ length: count }, () => random.whole(0, 15).toString(16)).join('');
  return `${draw(8)}-${draw(4)}-4${draw(3)}-${random.pick(['8', '9', 'a', 'b'])}${draw(3)}-${draw(12)}`;
}

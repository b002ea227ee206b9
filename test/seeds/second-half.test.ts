import { test } from 'vitest';
import { expectUnbroken } from './helpers/unbroken.ts';

test(
  'another 150 drawn deployments, each fault profile in turn, break nothing',
  () => expectUnbroken(151, 150),
  300_000,
);

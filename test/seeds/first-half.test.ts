import { test } from 'vitest';
import { expectUnbroken } from './helpers/unbroken.ts';

test(
  '150 drawn deployments, each fault profile in turn, break nothing',
  () => expectUnbroken(1, 150),
  300_000,
);

import { describe, expect, test } from 'vitest';
import { bracket, outcome } from './helpers/bracket.ts';

describe('D12: the record of a run decides', () => {
  test('a runId that has ended is not begun again, with the same input or another', async () => {
    const done = await bracket();
    await done.before();
    await done.after();
    const acts = done.acts.length;
    for (const request of [{}, { fleet: { instanceIds: done.ids(2) } }]) {
      const again = await done.before(request);
      expect(outcome(again)).toBe('FAILED RunEnded');
      expect(again.cause).toMatch(/Run r has ended \(succeeded\)\. Start a new one with a runId of its own/);
    }
    expect(outcome(await done.after())).toBe('FAILED RunEnded');
    expect(done.acts).toHaveLength(acts);
    expect(await done.violations()).toEqual([]);
  });

  test('a runId that is live belongs to its execution', async () => {
    const live = await bracket();
    const first = live.startBefore();
    await live.clock.pass(30_000);
    const again = await live.before();
    expect(outcome(again)).toBe('FAILED RunInProgress');
    expect(again.cause).toContain(`Run r is live in ${first.arn}`);
    await live.end(first);
    expect(first.status).toBe('SUCCEEDED');
    await live.after();
    expect(await live.violations()).toEqual([]);
  });

  test('a run that was refused may be begun again', async () => {
    const mended = await bracket();
    expect((await mended.before({ policy: { leadSeconds: 1 } })).error).toBe('InvalidRequest');
    expect((await mended.before()).status).toBe('SUCCEEDED');
    expect((await mended.after()).status).toBe('SUCCEEDED');
    expect(await mended.violations()).toEqual([]);
  });
});

describe('after-deploy is refused, and the run goes on,', () => {
  test('without before-deploy', async () => {
    const none = await bracket();
    const execution = await none.after();
    expect(outcome(execution)).toBe('FAILED RunUnknown');
    expect(execution.cause).toMatch(/no run r\. Was before-deploy started/);
    expect(await none.violations()).toEqual([]);
  });

  test('before the go-ahead', async () => {
    const early = await bracket();
    const before = early.startBefore();
    await early.clock.pass(60_000);
    expect(outcome(await early.after())).toBe('FAILED NoGoAhead');
    await early.end(before);
    expect(before.status).toBe('SUCCEEDED');
    expect((await early.after()).status).toBe('SUCCEEDED');
    expect(await early.violations()).toEqual([]);
  });

  test('while another after-deploy works on it', async () => {
    const twice = await bracket();
    await twice.before();
    const first = twice.start('AfterDeploy', { runId: 'r' });
    await twice.clock.pass(10_000);
    expect(outcome(await twice.after())).toBe('FAILED RunInProgress');
    await twice.end(first);
    expect(first.status).toBe('SUCCEEDED');
    expect(await twice.violations()).toEqual([]);
  });
});

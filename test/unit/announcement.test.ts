import fc from 'fast-check';
import { expect, test } from 'vitest';
import { announce, type RunNews } from '../../functions/core/domain/announcement.ts';

const news: RunNews = {
  runId: 'release-42',
  what: 'held',
  error: 'BudgetSpent',
  cause: 'The budget is spent.',
  instanceIds: ['i-0aaaaaaaaaaaaaaa1', 'i-0aaaaaaaaaaaaaaa2'],
  left: [{ instanceId: 'i-0aaaaaaaaaaaaaaa2', reason: 'check asc-1 fails with ConnectionRefused' }],
  endedAt: Date.parse('2026-11-30T10:00:00Z') / 1000,
  byHand: ['# Take its claims out of the ledger.', 'aws dynamodb delete-item'],
  heldUntil: Date.parse('2026-11-30T11:00:00Z') / 1000,
};

test('a held instance is told of with its reason, its end, and how to go on', () => {
  const { subject, message, detailType, detail } = announce(news);
  expect(subject).toBe('Quiesce: run release-42 failed and holds instances');
  expect(message.split('\n')).toEqual([
    'Run release-42 over 2 instances failed at 2026-11-30T10:00:00Z with BudgetSpent.',
    'The budget is spent.',
    '',
    'These instances are not proven ready. They are kept out of traffic and suppressed until 2026-11-30T11:00:00Z, so that somebody can look at them, and Auto Scaling does not replace them. Everything else is put back:',
    '  i-0aaaaaaaaaaaaaaa2: check asc-1 fails with ConnectionRefused',
    '',
    'See what the run did and holds:  quiesce status release-42',
    'Give everything back now:        quiesce undo release-42',
    'The same by plain AWS CLI calls: quiesce status release-42 --by-hand',
    '',
    'At the moment those are:',
    '',
    '# Take its claims out of the ledger.',
    'aws dynamodb delete-item',
  ]);
  expect(detailType).toBe('Quiesce Instances Held');
  expect(detail).toMatchObject({ runId: 'release-42', what: 'held', heldUntil: '2026-11-30T11:00:00Z' });
});

test('SNS and EventBridge take every announcement, whatever the run is called and however many it left', () => {
  const runId = fc.stringMatching(/^[0-9A-Za-z_.:-]{1,128}$/);
  const what = fc.constantFrom('failed', 'held', 'given-back', 'unfinished');
  const left = fc.integer({ min: 0, max: 5000 });
  fc.assert(
    fc.property(runId, what, left, fc.string({ maxLength: 40_000 }), (runId, what, count, cause) => {
      const ids = Array.from({ length: count }, (_, index) => `i-${index.toString(16).padStart(17, '0')}`);
      const { heldUntil: _, ...unheld } = news;
      const { subject, message, detail } = announce({
        ...(what === 'held' ? news : unheld),
        runId,
        what,
        cause,
        instanceIds: ids,
        left: ids.map(instanceId => ({ instanceId, reason: 'still claimed by the run' })),
      });
      expect(subject).toMatch(/^[!-~][ -~]{0,99}$/);
      expect(message).not.toContain('undefined');
      // EventBridge takes 256 KB an entry, SNS a message; both are far below.
      expect(Buffer.byteLength(message) + Buffer.byteLength(JSON.stringify(detail))).toBeLessThan(64_000);
    }),
    { numRuns: 60 },
  );
});

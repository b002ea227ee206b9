import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import type { DeployedTemplate } from '../../local/stack/deployed-template.ts';
import { readTemplate } from '../../local/stack/template.ts';
import { brokenTemplate, templatePath } from './helpers/product.ts';

/** With everything that a condition may leave out. */
const WITH_ALL = { NotificationTopic: 'create', ZoneView: 'Enabled', LoopBreaker: 'demote' };
const read = (path: string) => readTemplate({ world: createWorld(), path, parameters: WITH_ALL });

/** What CloudFormation may delete while the clean-up is at work: all but what only rings, or tells others our names. */
function deletedMeanwhile({ needs, alarms, inert }: DeployedTemplate): readonly string[] {
  const there = new Set<string>();
  const need = (logicalId: string): void => {
    if (there.has(logicalId)) return;
    there.add(logicalId);
    for (const needed of needs.get(logicalId) ?? []) need(needed);
  };
  need('CleanUp');
  const only = new Set([
    ...alarms.map(({ logicalId }) => logicalId),
    ...[...inert.values()].flatMap(({ logicalId, type }) =>
      type === 'AWS::Logs::LogGroup' ? [] : logicalId,
    ),
  ]);
  return [...needs.keys()].filter(
    logicalId => !there.has(logicalId) && !only.has(logicalId) && !/^(output |the stack$)/.test(logicalId),
  );
}

test('D22: whatever acts is deleted after the clean-up', () => {
  // Whatever is named here belongs into After of CleanUp.
  expect(deletedMeanwhile(read(templatePath))).toEqual([]);
  const { path } = brokenTemplate('        - !Ref SweepSchedulePermission\n', '');
  expect(deletedMeanwhile(read(path))).toContain('SweepSchedulePermission');
});

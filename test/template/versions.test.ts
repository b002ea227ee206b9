import { expect, test } from 'vitest';
import type { DeployedTemplate } from '../../local/stack/deployed-template.ts';
import { brokenTemplate, product } from './helpers/product.ts';
import { invocationsOf, object } from './helpers/states.ts';

function unversioned({ functions, machines }: DeployedTemplate): readonly string[] {
  const versions = new Set([...functions.values()].map(({ versionArn }) => versionArn));
  return [...machines.values()].flatMap(({ logicalId, definition }) =>
    invocationsOf(definition)
      .filter(([, { Arguments }]) => !versions.has(String(object(Arguments).FunctionName)))
      .map(([task]) => `${logicalId}: ${task}`),
  );
}

test('D26: every task calls a published version', () => {
  expect(unversioned(product)).toEqual([]);
  const { read } = brokenTemplate('!Ref UndoFunction.Version', '!Ref UndoFunction');
  expect(unversioned(read())).toEqual(['AfterDeploy: Undo']);
});

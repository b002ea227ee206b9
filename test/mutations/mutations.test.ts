import { describe, expect, test } from 'vitest';
import { FaultInjector } from '../../local/simulate/fault-injector.ts';
import { readFault } from '../../local/simulate/faults.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { given } from './helpers/given.ts';
import { mutant } from './helpers/mutant.ts';
import { type Mutation, mutations } from './helpers/mutations.ts';

/** Runs the mutation's scenario, on the product or on the mutant whose template is given. */
async function run({ given: what, fault }: Mutation, templatePath?: string) {
  const injector = fault === undefined ? undefined : new FaultInjector(readFault(fault));
  const { violations, deployment, measures } = await simulate({
    scenario: given(what),
    ...injector?.settings,
    ...(templatePath !== undefined && { templatePath }),
  });
  expect(injector?.struck, 'the fault has struck').not.toBe(false);
  return {
    broken: violations.map(({ invariant, what }) => `${invariant}: ${what}`),
    ending: [
      `ends as ${deployment.outcome} ${deployment.error}`.trim(),
      `replaces ${measures.replaced} instances`,
    ],
  };
}

describe('a fault planted in the product is seen by the invariants', () => {
  test.for(mutations.map(mutation => [mutation.rule, mutation] as const))('%s', async ([, mutation]) => {
    const product = await run(mutation);
    expect(product.broken).toEqual([]);
    const { templatePath, remove } = mutant(mutation.changes);
    try {
      const { broken, ending } = await run(mutation, templatePath);
      const shown = [...broken, ...ending.filter(one => !product.ending.includes(one))];
      expect(shown).toContainEqual(expect.stringMatching(mutation.breaks));
    } finally {
      remove();
    }
  });

  test('which is planted where it belongs, or not at all', () => {
    const gone = { file: 'functions/core/time.ts', text: 'no such passage', instead: '' };
    expect(() => mutant([gone])).toThrow('has 0 passages "no such passage"');
  });
});

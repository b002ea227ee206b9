import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as errors from '../functions/core/errors.ts';
import { parseScenario } from '../local/simulate/scenario.ts';
import { simulate } from '../local/simulate/simulation.ts';
import { expected, outcomeOf } from './scenarios/helpers/outcomes.ts';

describe('the docs', () => {
  test('show a scenario that runs as it says', async () => {
    const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/scenarios.md', 'utf8')) ?? [];
    const scenario = parseScenario(block, 'docs/scenarios.md');
    expect(outcomeOf(await simulate({ scenario }))).toEqual(expected(scenario));
  });

  test('say of every named error what to do', () => {
    const page = readFileSync('docs/troubleshooting.md', 'utf8');
    const unsaid = Object.keys(errors).filter(
      name => !/^(QuiesceError|Refusal)$/.test(name) && !page.includes(`\`${name}\``),
    );
    expect(unsaid).toEqual([]);
  });
});

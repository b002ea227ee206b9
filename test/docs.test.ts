import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import * as errors from '../functions/core/errors.ts';
import { machineVariables } from '../local/cli/machine-option.ts';
import { timingCommand } from '../local/cli/timing.ts';
import { parseScenario } from '../local/simulate/scenario.ts';
import { simulate } from '../local/simulate/simulation.ts';
import { expected, outcomeOf } from './scenarios/helpers/outcomes.ts';

describe('the docs', () => {
  test('show a scenario that runs as it says', async () => {
    const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/scenarios.md', 'utf8')) ?? [];
    const scenario = parseScenario(block, 'docs/scenarios.md');
    expect(outcomeOf(await simulate({ scenario }))).toEqual(expected(scenario));
  });

  test('show of quiesce timing what it prints, and that it ends with 1 where settings contradict', async () => {
    const page = readFileSync('docs/timing.md', 'utf8');
    const shown = page.matchAll(/```sh\nnpx quiesce timing ?(.*)\n```\n\n```\n([\s\S]*?)```/g);
    const codes: number[] = [];
    for (const [, line = '', printed = ''] of shown) {
      const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      codes.push(await timingCommand.run(line.split(' ').filter(Boolean)));
      const told = out.mock.calls.map(([text]) => String(text)).join('');
      out.mockRestore();
      expect(told).toBe(printed);
      expect(codes.at(-1)).toBe(told.includes('\n! ') ? 1 : 0);
    }
    expect(codes).toEqual([0, 0, 1]);
  });

  test('name ARNs and tables by the variables that quiesce serve exports', () => {
    const exported = new Set([...Object.keys(machineVariables(() => '')), 'QUIESCE_LEDGER_TABLE']);
    const named = readdirSync('docs')
      .filter(name => name.endsWith('.md'))
      .flatMap(name => [
        ...readFileSync(`docs/${name}`, 'utf8').matchAll(/(?:-arn|--machine|--table) "?\$(\w+)/g),
      ])
      .map(([, variable = '']) => variable);
    expect(named).toContain('QUIESCE_BEFORE_DEPLOY');
    expect(named.filter(variable => !exported.has(variable))).toEqual([]);
  });

  test('say of every named error what to do', () => {
    const page = readFileSync('docs/troubleshooting.md', 'utf8');
    const unsaid = Object.keys(errors).filter(
      name => !/^(QuiesceError|Refusal)$/.test(name) && !page.includes(`\`${name}\``),
    );
    expect(unsaid).toEqual([]);
  });
});

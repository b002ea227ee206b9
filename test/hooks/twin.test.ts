import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(`examples/codedeploy/scripts/${name}`, 'utf8');
const bash = read('quiesce.sh');
const powerShell = read('quiesce.ps1');

/** The lifecycle events that each act answers. */
function actsOf(script: string, line: RegExp): Record<string, string[]> {
  const acts = Array.from(script.matchAll(line), ([, events = '', act = '']) => [
    act,
    events.split(/ *\| */),
  ]);
  return Object.fromEntries(acts);
}

const number = (script: string, pattern: RegExp) => Number(pattern.exec(script)?.[1]);

/** What a person reads, up to what is filled in. */
const sentencesOf = (script: string) =>
  new Set(
    Array.from(
      script.matchAll(
        /["'](there is nothing|this is not a hook|given up|the (?:instance|hook|URL)[^"'$:]*)/g,
      ),
      ([, said = '']) => said.trim(),
    ),
  );

// No PowerShell is to be had where the tests run: the twin is compared with the script that is run.
test('quiesce.ps1 does at each lifecycle event what quiesce.sh does, within the same limits, in the same words', () => {
  const acts = actsOf(bash, /^([\w |]+)\) act=(\w+) ;;$/gm);
  expect(acts).toEqual({
    before: ['before', 'BeforeBlockTraffic'],
    gate: ['gate', 'AfterBlockTraffic', 'ApplicationStop', 'BeforeInstall'],
    after: ['after', 'ValidateService', 'AfterAllowTraffic'],
  });
  expect(actsOf(powerShell, /'\^\(([\w|]+)\)\$' \{ '(\w+)' \}/g)).toEqual(acts);
  expect(number(powerShell, /else \{ (\d+) \}/)).toBe(number(bash, /LIMIT_SECONDS:-(\d+)/));
  expect(number(powerShell, /retrySeconds = (\d+)/)).toBe(number(bash, /retry_seconds=(\d+)/));
  expect(number(powerShell, /mostFailures = (\d+)/)).toBe(number(bash, /most_failures=(\d+)/));
  expect(sentencesOf(bash).size).toBeGreaterThan(6);
  expect(sentencesOf(powerShell)).toEqual(sentencesOf(bash));
});

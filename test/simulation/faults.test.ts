import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultLine, faultWays, readFault } from '../../local/simulate/faults.ts';

test('a fault is a line, and a line a fault', () => {
  const line = 'BeforeDeploy lambda:Invoke/PlanFunction 2 lost-answers';
  expect(faultLine(readFault(line))).toBe(line);
  for (const wrong of [
    '',
    'PlanFunction Get 1 late',
    'PlanFunction ec2:Get 0 late',
    'PlanFunction ec2:Get 1 bored',
  ])
    expect(() => readFault(wrong)).toThrow('is no fault: write CALLER');
});

test('docs/call-sites.md tells every way in which a call can fail, as the code does', () => {
  const page = readFileSync('docs/call-sites.md', 'utf8');
  for (const [way, about] of Object.entries(faultWays)) expect(page).toContain(`| \`${way}\` | ${about} |`);
});

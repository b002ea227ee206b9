import { describe, expect, test } from 'vitest';
import { type AlarmState, judge, MISSING_DATA } from '../../local/account/alarm-verdict.ts';

/** As CloudWatch's guide writes points, the newest on the right: 0 is fine, X breaching, - missing. */
const points = (row: string) => [...row].map(point => (point === '-' ? undefined : point === 'X'));

const SHORT = { O: 'OK', A: 'ALARM', I: 'INSUFFICIENT_DATA', r: 'retained' } as const;

/** By `missing`, `ignore`, `breaching` and `notBreaching`, as the guide's columns are. */
const documented: readonly [datapointsToAlarm: number, row: string, states: string][] = [
  [3, '0-X-X', 'OOOO'],
  [3, '0----', 'OOOO'],
  [3, '-----', 'IrAO'],
  [3, '0XX-X', 'AAAA'],
  [3, '--X--', 'ArAO'],
  [2, '0-X-X', 'AAAA'],
  [2, '00X0X', 'AAAA'],
  [2, '0-X--', 'OOAO'],
  [2, '----0', 'OOAO'],
  [2, '---X-', 'ArAO'],
];

const settings = { evaluationPeriods: 3, tooFewBreaching: 'ok' } as const;

describe('CloudWatch documents what an alarm makes of missing data', () => {
  test.each(documented)('%i out of 3 in %s', (datapointsToAlarm, row, states) => {
    const judged = (['missing', 'ignore', 'breaching', 'notBreaching'] as const).map(treatMissingData =>
      judge(points(row), { ...settings, datapointsToAlarm, treatMissingData }),
    );
    expect(judged).toEqual([...states].map(short => SHORT[short as keyof typeof SHORT]));
  });

  test.each(['----X', '---X-'])('D21: %s does not alarm yet, and what it does instead is a switch', row => {
    const young = { evaluationPeriods: 3, datapointsToAlarm: 3, treatMissingData: 'missing' } as const;
    expect(judge(points(row), { ...young, tooFewBreaching: 'ok' })).toBe('OK');
    expect(judge(points(row), { ...young, tooFewBreaching: 'retained' })).toBe('retained');
  });

  test('with three real points of the five, whatever they are, the setting does not matter', () => {
    // As in CloudWatch's tables above: X breaches, 0 does not, - is missing.
    for (const row of ['X0X', '-XXX', '0-0X0', 'XXX00'])
      for (const datapointsToAlarm of [1, 2, 3]) {
        const states = MISSING_DATA.map((treatMissingData): AlarmState | 'retained' =>
          judge(points(row), { ...settings, datapointsToAlarm, treatMissingData }),
        );
        expect(new Set(states).size).toBe(1);
      }
  });
});

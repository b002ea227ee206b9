import { describe, expect, test } from 'vitest';
import { compileRule } from '../../local/account/alarm-rule.ts';
import { compileMath, type Points } from '../../local/account/metric-math.ts';
import { compileInsights } from '../../local/account/metrics-insights.ts';

const series: Readonly<Record<string, Points>> = { m1: [1, undefined, 3], m2: [10, 20, 0] };

const worth = (expression: string): Points =>
  compileMath(expression).evaluate({ series: id => series[id] ?? [], metrics: () => Object.values(series) });

describe('metric math', () => {
  test.each<[string, Points]>([
    ['m1 + m2', [11, undefined, 3]],
    ['FILL(m1, 0) + m2 * 2', [21, 40, 3]],
    ['FILL(m1, REPEAT)', [1, 1, 3]],
    ['m1 / m2', [0.1, undefined, undefined]],
    ['-(m1 - 2) * 2', [2, undefined, -2]],
    ['IF(m2 >= 10 AND m2 < 20, 1, 0)', [1, 0, 0]],
    ['IF(m2 > 10 || m2 == 0, m2, 5)', [5, 20, 0]],
    ['MAX([m1, m2])', [10, 20, 3]],
    ['SUM(METRICS())', [11, 20, 3]],
    ['m2 - AVG(m2)', [0, 10, -10]],
    ['100 - MIN(METRICS())', [99, 80, 100]],
  ])('%s', (expression, expected) => {
    expect(worth(expression)).toEqual(expected);
  });

  test.each([
    'SEARCH(m1)',
    'm1 +',
    '(m1',
    'm1 m2',
    'M1',
    '5 + 3',
    'MAX(m1)',
    'METRICS()',
    'm1 $ 2',
    'FILL(m1, m2)',
  ])('%s is refused', expression => {
    expect(() => compileMath(expression)).toThrow(/Error in expression/);
  });
});

describe('Metrics Insights', () => {
  const metric = (dimensions: Record<string, string>) => ({ namespace: 'AWS/EC2', name: 'm', dimensions });

  test('a query names its metric, its groups, and by SCHEMA exactly the dimensions that count', () => {
    const query = compileInsights(
      'SELECT MAX("StatusCheckFailed_Application_asc-1") FROM SCHEMA("AWS/EC2", InstanceId) GROUP BY InstanceId ORDER BY MAX() DESC',
    );
    expect(query).toMatchObject({
      namespace: 'AWS/EC2',
      name: 'StatusCheckFailed_Application_asc-1',
      groupBy: ['InstanceId'],
    });
    expect(query.statistic([0, 1, 0])).toBe(1);
    expect(query.matches(metric({ InstanceId: 'i-1' }))).toBe(true);
    expect(query.matches(metric({ InstanceId: 'i-1', Zone: 'a' }))).toBe(false);
    expect(query.matches(metric({}))).toBe(false);
  });

  test('WHERE compares dimensions', () => {
    const query = compileInsights(`SELECT SUM(m) FROM "AWS/EC2" WHERE Zone = 'a' AND InstanceId != 'i-2'`);
    expect(query.groupBy).toEqual([]);
    expect(query.matches(metric({ InstanceId: 'i-1', Zone: 'a' }))).toBe(true);
    expect(query.matches(metric({ InstanceId: 'i-2', Zone: 'a' }))).toBe(false);
    expect(query.matches(metric({ InstanceId: 'i-1', Zone: 'b' }))).toBe(false);
  });

  test.each(['SELECT p99(m) FROM x', 'SELECT MAX(m)', `SELECT MAX(m) FROM x WHERE a > 'b'`])(
    '%s is refused',
    query => {
      expect(() => compileInsights(query)).toThrow(/is not understood/);
    },
  );
});

describe('rules of composite alarms', () => {
  const states: Readonly<Record<string, 'OK' | 'ALARM' | 'INSUFFICIENT_DATA'>> = {
    a: 'ALARM',
    'b c': 'OK',
    d: 'INSUFFICIENT_DATA',
  };

  test.each([
    ['ALARM(a)', true],
    ['ALARM("b c") OR OK(\'b c\')', true],
    ['ALARM(a) AND NOT INSUFFICIENT_DATA(d)', false],
    ['NOT (ALARM("b c") OR OK(d)) AND TRUE', true],
    ['ALARM(a) OR FALSE AND FALSE', true],
    ['ALARM("arn:aws:cloudwatch:eu-west-1:111122223333:alarm:a")', true],
  ])('%s is %s', (text, holds) => {
    expect(compileRule(text).holds(name => states[name] ?? 'OK')).toBe(holds);
  });

  test.each([
    '',
    'ALARM(a) AND',
    'ALARM(a) ALARM(d)',
    '(ALARM(a)',
    'WARNING(a)',
    'ALARM()',
    'x'.repeat(10_241),
  ])('a rule like %.20s is refused', text => {
    expect(() => compileRule(text)).toThrow(/The AlarmRule/);
  });

  test('a rule names at most a hundred alarms', () => {
    const rule = Array.from({ length: 101 }, (_, index) => `ALARM(a${index})`).join(' OR ');
    expect(() => compileRule(rule)).toThrow(/more than 100/);
  });
});

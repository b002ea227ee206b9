import { describe, expect, test } from 'vitest';
import { UsageError } from '../../local/cli/command.ts';
import { givenIn } from '../../local/cli/fleet-request.ts';
import { parseScenario, ScenarioRefused } from '../../local/simulate/scenario.ts';

/** Why a scenario of these lines is refused, a line a fault. */
function faultsIn(...lines: readonly string[]): string[] {
  try {
    parseScenario(['name: wrong', ...lines].join('\n'), 'wrong.yaml');
  } catch (error) {
    if (error instanceof ScenarioRefused) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('a fault in a scenario is a sentence with its line and its field', () => {
  test('whatever is of the wrong kind, in the order of the file', () => {
    expect(
      faultsIn(
        'fleet:',
        '  broken: maybe',
        '  zones: []',
        '  checks: [{ port: "8080", path: health, graceSeconds: 601 }]',
        'deployment:',
        '  batches: quarter',
        '  downSecond: 3',
        'events: once',
      ),
    ).toEqual([
      'wrong.yaml:3: fleet.instances: is missing: it must be a number',
      'wrong.yaml:3: fleet.broken: must be true, false or a list of numbers of instances, counted from 0',
      'wrong.yaml:4: fleet.zones: must have at least 1 entry, not []',
      'wrong.yaml:5: fleet.checks.0.port: must be a number, not "8080"',
      'wrong.yaml:5: fleet.checks.0.path: must begin with /, not "health"',
      'wrong.yaml:5: fleet.checks.0.graceSeconds: must be at most 600, not 601',
      'wrong.yaml:7: deployment.batches: must be one-at-a-time, half, all or a number of instances',
      expect.stringMatching(
        /^wrong\.yaml:8: deployment\.downSecond: is no member here: use through, .*downSeconds,/,
      ),
      'wrong.yaml:9: events: must be a list, not "once"',
    ]);
  });

  test('an event that could never happen, or has what is for another', () => {
    expect(
      faultsIn(
        'fleet: { instances: 2, autoScaling: null }',
        'deployment: {}',
        'events:',
        '  - { atSeconds: 1, do: enter-standby }',
        '  - { atSeconds: 1, do: stop-deployment }',
        '  - { atSeconds: 1, do: release-suppression, seconds: 5, machine: UndoRun }',
      ),
    ).toEqual([
      'wrong.yaml:5: events.0.do: enter-standby needs an Auto Scaling group: fleet.autoScaling must not be null',
      'wrong.yaml:6: events.1.do: stop-deployment needs a deployment with through: codedeploy',
      'wrong.yaml:7: events.2.seconds: is for suppress-instance, not for release-suppression',
      'wrong.yaml:7: events.2.machine: is for stop-execution, not for release-suppression',
    ]);
    expect(faultsIn('fleet: { instances: 2, autoScaling: { minSize: 3 } }', 'deployment: {}')).toEqual([
      "wrong.yaml:2: fleet.autoScaling.minSize: must not be above the fleet's 2 instances, not 3",
    ]);
  });

  test("a request that before-deploy would refuse is refused when the file is read, a rival's too", () => {
    expect(
      faultsIn(
        'fleet: { instances: 2 }',
        'deployment:',
        '  request:',
        '    policy: { leadSeconds: 10 }',
        'rivals:',
        '  - atSeconds: 1',
        '    request: { trafic: leave }',
      ),
    ).toEqual([
      'wrong.yaml:5: deployment.request.policy.leadSeconds: must be at least 180: suppression takes about 192 s to spread',
      expect.stringMatching(
        /^wrong\.yaml:8: rivals\.0\.request\.trafic: is no member here: use runId, fleet, traffic, /,
      ),
    ]);
  });

  test("an adoption is judged as promote-check judges it, and has nothing of a deployment's", () => {
    const of = (adopt: string, more = '', fleet = '{ instances: 2 }') =>
      faultsIn(`fleet: ${fleet}`, 'deployment:', `  adopt: ${adopt}`, `  ${more}`);
    const check = '{ check: { protocol: http, port: 8080 } }';
    expect(of(check)).toEqual([]);
    expect(of('{ check: { protocol: ftp, port: 8080 } }')).toEqual([
      'wrong.yaml:4: deployment.adopt.check.protocol: must be one of http, https, not "ftp"',
    ]);
    expect(of('{ check: { id: asc-0123456789abcdef0 } }')).toEqual([
      'wrong.yaml:4: deployment.adopt.check: must be one to create: {protocol, port, ...}',
    ]);
    expect(of(check, 'batches: half')).toEqual([
      'wrong.yaml:5: deployment.batches: is not for an adoption, which deploys nothing',
    ]);
    expect(of(check, '', '{ instances: 2, autoScaling: null }')).toEqual([
      'wrong.yaml:4: deployment.adopt: needs an Auto Scaling group: fleet.autoScaling must not be null',
    ]);
    expect(faultsIn('fleet: { instances: 2, flaky: [2] }')).toEqual([
      expect.stringContaining('must be below 2, not 2'),
    ]);
  });

  test.each([
    [
      'deregistration_delay.timeout_second: "60"',
      /5: .*timeout_second: is no attribute of such a group: use deregistration_delay\.timeout_seconds, /,
    ],
    ['slow_start.duration_seconds: "10"', /5: .*slow_start\.duration_seconds: '10' is not a valid value /],
    [
      '{ slow_start.duration_seconds: "60", load_balancing.algorithm.type: weighted_random }',
      /5: fleet\.targetGroups\.0\.attributes: slow_start.* cannot be combined with /,
    ],
  ])('an attribute that AWS would refuse: %s', (attributes, sentence) => {
    expect(
      faultsIn(
        'fleet:',
        '  instances: 2',
        `  targetGroups: [{ name: web, port: 80, attributes:`,
        `    ${attributes.startsWith('{') ? attributes : `{ ${attributes} }`} }]`,
      ),
    ).toEqual([expect.stringMatching(sentence)]);
  });

  test('a check on a port where nothing listens, since it would pass for ever', () => {
    const fleet = (more: string) =>
      faultsIn(
        `fleet: { instances: 1, targetGroups: [{ name: web, port: 80 }], checks: [{ port: 81 }]${more} }`,
      );
    expect(fleet('')).toEqual([
      'wrong.yaml:2: fleet.checks.0.port: nothing listens on 81: use a port of a target group (80), or name it in fleet.alsoListensOn',
    ]);
    expect(fleet(', alsoListensOn: [81]')).toEqual([]);
    expect(faultsIn('fleet: { instances: 1, checks: [{ port: 81 }] }')).toEqual([]);
    const adopted = (fleet: string) =>
      faultsIn(`fleet: ${fleet}`, 'deployment:', '  adopt: { check: { protocol: http, port: 81 } }');
    expect(adopted('{ instances: 1, targetGroups: [{ name: web, port: 80 }] }')).toEqual([
      'wrong.yaml:4: deployment.adopt.check.port: nothing listens on 81: use a port of a target group (80), or name it in fleet.alsoListensOn',
    ]);
    expect(adopted('{ instances: 1 }')).toEqual([]);
  });

  test('an instance that the fleet does not have', () => {
    const numbers =
      'fleet: { instances: 2, broken: [2] }\ndeployment: { instances: [0, 2] }\nevents: [{ atSeconds: 1, do: scale-out, instance: 3 }]';
    expect(faultsIn(numbers).map(fault => fault.replace(/: the fleet's .*/, ''))).toEqual([
      'wrong.yaml:2: fleet.broken: must be below 2, not 2',
      'wrong.yaml:3: deployment.instances: must be below 2, not 2',
      'wrong.yaml:4: events.0.instance: must be below 2, not 3',
    ]);
  });

  test('what one way of deploying does not know', () => {
    expect(faultsIn('fleet: { instances: 1 }', 'deployment: { hooks: false }')).toEqual([
      'wrong.yaml:3: deployment.hooks: is not for a deployment through batches',
    ]);
    expect(
      faultsIn(
        'fleet: { instances: 1 }',
        'deployment: { through: codedeploy, batches: 1, fleet: codeDeployDeploymentId }',
      ),
    ).toEqual([
      'wrong.yaml:3: deployment.batches: is not for a deployment through codedeploy',
      'wrong.yaml:3: deployment.fleet: has to be known before there is a deployment',
    ]);
  });
});

test('a fault in a request is a sentence with its line and its field', () => {
  const text = '{\n\t"runId": "x y",\n\t"policy": {\n\t\t"leadSeconds": 3\n\t}\n}';
  const read = () => givenIn({ name: 'request.json', text, value: JSON.parse(text) }, { traffic: 'both' });
  expect(read).toThrow(UsageError);
  expect(read).toThrow(
    /^request\.json:1: fleet: must be exactly one of .*\nrequest\.json:1: traffic: must be one of drain, leave, not "both"\nrequest\.json:2: runId: .*, not "x y"\nrequest\.json:4: policy\.leadSeconds: must be at least 180: /,
  );
});

import { describe, expect, test } from 'vitest';
import { parseStatusCodeMatcher } from '../../local/account/status-code-matcher.ts';
import { account, failing, GROUP_TAG } from './helpers/ec2-account.ts';

const SETTLED = 240;

describe('associations', () => {
  test('R-PARTIAL: what cannot be associated is named in the results, the rest is associated', async () => {
    const { launch, api, checks } = account();
    const [there, gone] = [launch(), launch()];
    const made = api.CreateApplicationStatusCheck({ Protocol: 'https', Port: 8080 });
    const ApplicationStatusCheckId = made.ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
    api.TerminateInstances({ InstanceIds: [gone.id] });
    const input = { ApplicationStatusCheckId, InstanceIds: [there.id, gone.id, 'i-0123456789abcdef0'] };
    expect(api.AssociateApplicationStatusCheck(input)).toEqual({
      SuccessfulResults: [
        { ApplicationStatusCheckId, AssociationType: 'INSTANCE_ID', AssociationValue: there.id },
      ],
      UnsuccessfulResults: [
        expect.objectContaining({
          AssociationValue: gone.id,
          Reason: expect.stringContaining('shutting-down'),
        }),
        expect.objectContaining({ Reason: expect.stringContaining('does not exist') }),
      ],
    });
    expect(checks.results(there.id)).toHaveLength(1);
    expect(api.AssociateApplicationStatusCheck({ ...input, InstanceIds: [there.id] })).toMatchObject({
      SuccessfulResults: [],
      UnsuccessfulResults: [
        { AssociationValue: there.id, Reason: expect.stringContaining('already associated') },
      ],
    });
    api.DisassociateApplicationStatusCheck({ ...input, InstanceIds: [there.id] });
    expect(checks.results(there.id)).toHaveLength(0);
  });

  test('the two vocabularies of association types', () => {
    const { api, createCheck, launch } = account();
    const instance = launch();
    const id = createCheck();
    const { SuccessfulResults } = api.DisassociateApplicationStatusCheck({
      ApplicationStatusCheckId: id,
      TargetTagAssociations: [{ Key: GROUP_TAG, Value: 'web' }],
    });
    expect(SuccessfulResults).toMatchObject([
      { AssociationType: 'EC2TAG', AssociationValue: `${GROUP_TAG}=web` },
    ]);
    api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: id,
      TargetTagAssociations: [{ Key: GROUP_TAG, Value: 'web' }],
    });
    api.AssociateApplicationStatusCheck({ ApplicationStatusCheckId: id, InstanceIds: [instance.id] });
    expect(api.DescribeApplicationStatusCheckAssociations({}).Associations).toEqual([
      { ApplicationStatusCheckId: id, AssociationType: 'tag', Key: GROUP_TAG, Value: 'web' },
      { ApplicationStatusCheckId: id, AssociationType: 'instance-id', Value: instance.id },
    ]);
  });

  test('tags and instances together are refused', () => {
    const { api, createCheck, launch } = account();
    const input = {
      ApplicationStatusCheckId: createCheck(),
      InstanceIds: [launch().id],
      TargetTagAssociations: [{ Key: 'a', Value: 'b' }],
    };
    expect(() => api.AssociateApplicationStatusCheck(input)).toThrow(
      expect.objectContaining({ code: 'InvalidParameterCombination' }),
    );
  });

  test('a tag that is added later enrols the instance', () => {
    const { api, createCheck, launch, checks } = account();
    const instance = launch({ tags: { [GROUP_TAG]: 'other' } });
    const id = createCheck();
    api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: id,
      TargetTagAssociations: [{ Key: 'checked', Value: 'yes' }],
    });
    expect(checks.results(instance.id)).toHaveLength(0);
    api.CreateTags({ Resources: [instance.id], Tags: [{ Key: 'checked', Value: 'yes' }] });
    expect(checks.results(instance.id)).toHaveLength(1);
  });

  test('D47: a target beyond the quota is not monitored and not reported, until there is room', async () => {
    const { launch, createCheck, seconds, api, status } = account({ quotas: { targets: 2 } });
    const [first, , third] = [launch(), launch(), launch()];
    createCheck();
    await seconds(SETTLED);
    expect(status(third)).toBeUndefined();
    api.TerminateInstances({ InstanceIds: [first.id] });
    await seconds(SETTLED);
    expect(status(third)?.Status).toBe('ok');
  });

  test('quotas of checks and associations', () => {
    const { api, createCheck } = account({ quotas: { checks: 2, associationsPerCheck: 2 } });
    const id = createCheck();
    createCheck();
    expect(() => createCheck()).toThrow(/limit of 2/);
    const TargetTagAssociations = ['a', 'b'].map(Key => ({ Key, Value: '1' }));
    const results = api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: id,
      TargetTagAssociations,
    });
    expect(results.SuccessfulResults).toHaveLength(1);
    expect(results.UnsuccessfulResults).toMatchObject([{ Reason: expect.stringContaining('limit of 2') }]);
  });
});

describe('requests', () => {
  test('the documented defaults', () => {
    const { api } = account();
    expect(
      api.CreateApplicationStatusCheck({ Protocol: 'http', Port: 80 }).ApplicationStatusCheck,
    ).toMatchObject({
      ApplicationStatusCheckId: expect.stringMatching(/^asc-[0-9a-f]{17}$/),
      Aggregation: 'included',
      Path: '/',
      Interval: 60,
      Timeout: 6,
      FailureThreshold: 2,
      SuccessThreshold: 2,
      StatusCodeMatcher: '200',
      InitializationGracePeriodSeconds: 300,
      IpVersion: 'ipv4',
    });
  });

  test.each([
    { Port: 0 },
    { Port: 65_536 },
    { Path: 'health' },
    { Interval: 30 },
    { Timeout: 31 },
    { FailureThreshold: 0 },
    { InitializationGracePeriodSeconds: 601 },
    { StatusCodeMatcher: '300-200' },
    { StatusCodeMatcher: '200,' },
  ])('%o is refused', invalid => {
    const { api } = account();
    const create = () => api.CreateApplicationStatusCheck({ Protocol: 'http', Port: 80, ...invalid });
    expect(create).toThrow(expect.objectContaining({ code: 'InvalidParameterValue' }));
  });

  test('the matcher takes codes and ranges', () => {
    const accepts = parseStatusCodeMatcher('200,202,300-399');
    expect([200, 201, 202, 299, 300, 399, 400].filter(accepts)).toEqual([200, 202, 300, 399]);
  });

  test('a repeated ClientToken is ignored without an error', () => {
    const { api } = account();
    const create = (Port: number) =>
      api.CreateApplicationStatusCheck({ Protocol: 'http', Port, ClientToken: 'once' });
    expect(create(81)).toEqual(create(80));
    expect(api.DescribeApplicationStatusChecks({}).ApplicationStatusChecks).toHaveLength(1);
  });

  test('a deleted check is described only with IncludeAll', () => {
    const { api, createCheck } = account();
    const id = createCheck();
    api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: id });
    expect(api.DescribeApplicationStatusChecks({}).ApplicationStatusChecks).toEqual([]);
    expect(api.DescribeApplicationStatusChecks({ IncludeAll: true }).ApplicationStatusChecks).toMatchObject([
      { ApplicationStatusCheckId: id, DeletionTime: expect.any(Date), TargetTagAssociations: [] },
    ]);
    expect(() => api.ModifyApplicationStatusCheck({ ApplicationStatusCheckId: id })).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/NotFound$/) }),
    );
  });

  test('R-PAGE: statuses come in pages, by zone and status', async () => {
    const { api, launch, createCheck, seconds } = account();
    const fleet = Array.from({ length: 130 }, (_, index) => launch({ zone: index % 2 === 0 ? 0 : 1 }));
    createCheck();
    fleet[0]?.application.suffer(failing);
    await seconds(SETTLED);
    const first = api.DescribeApplicationStatus({});
    const second = api.DescribeApplicationStatus({ NextToken: first.NextToken });
    expect(first.ApplicationStatuses?.Instances).toHaveLength(100);
    expect(second.ApplicationStatuses?.Instances).toHaveLength(30);
    expect(second.NextToken).toBeUndefined();
    const impaired = (zone: string) =>
      api
        .DescribeApplicationStatus({
          Filters: [
            { Name: 'availability-zone-id', Values: [zone] },
            { Name: 'status', Values: ['impaired'] },
          ],
        })
        .ApplicationStatuses?.Instances?.map(({ InstanceId }) => InstanceId);
    expect(impaired('euw1-az1')).toEqual([fleet[0]?.id]);
    expect(impaired('euw1-az2')).toEqual([]);
  });

  test('R-GONE: an unknown instance fails the call, a terminated one is left out', async () => {
    const { api, launch, seconds } = account();
    const [there, gone] = [launch(), launch()];
    api.TerminateInstances({ InstanceIds: [gone.id] });
    await seconds(60);
    const ids = (InstanceIds: string[]) =>
      api
        .DescribeApplicationStatus({ InstanceIds })
        .ApplicationStatuses?.Instances?.map(item => item.InstanceId);
    expect(ids([there.id, gone.id])).toEqual([there.id]);
    expect(() => ids(['i-0123456789abcdef0'])).toThrow(
      expect.objectContaining({ code: 'InvalidInstanceID.NotFound' }),
    );
  });
});

test('the same seed gives the same account, and thousands of instances cost seconds', async () => {
  const run = async () => {
    const { launch, createCheck, seconds, world } = account();
    for (let count = 0; count < 500; count++) launch();
    createCheck();
    await seconds(7200);
    return world.journal.entries;
  };
  const entries = await run();
  expect(entries.filter(entry => entry.type === 'application-status' && entry.status === 'ok')).toHaveLength(
    500,
  );
  expect(await run()).toEqual(entries);
});

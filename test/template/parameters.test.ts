import { readFileSync } from 'node:fs';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import { readTemplate } from '../../local/stack/template.ts';
import { readYaml } from '../../local/stack/template-text.ts';
import { product, templatePath } from './helpers/product.ts';
import { object, statesOf } from './helpers/states.ts';

const deployedWith = (parameters: Readonly<Record<string, string>>) =>
  readTemplate({ world: createWorld(), path: templatePath, parameters });

test('the default policy reaches Plan as it was given, whatever quotes are in it', async () => {
  const given = '{"leadSeconds":240,"alsoSuspend":["AZRebalance"]}';
  const { machines } = deployedWith({ DefaultPolicy: given });
  const plan = statesOf(object(machines.get('BeforeDeploy')?.definition)).get('Plan');
  const { defaultPolicy } = object(object(object(plan).Arguments).Payload);
  const expression = /^\{% (.*) %\}$/.exec(String(defaultPolicy))?.[1] ?? '';
  expect(await jsonata(expression).evaluate({})).toBe(given);
});

test.each(['', 'leadSeconds', '[1]'])(
  '%s is refused as a default policy when the stack is deployed',
  text => {
    expect(() => deployedWith({ DefaultPolicy: text })).toThrow('DefaultPolicy');
  },
);

test('D24: without the function URL everything else is there', () => {
  const { functions, outputs } = deployedWith({ HookUrl: 'None' });
  expect([...product.functions.keys()].filter(name => !functions.has(name))).toEqual(['HookFunction']);
  expect(outputs).not.toHaveProperty('HookUrl');
});

test('D22, D42: the ARNs of both machines, and the service token, are published under the name of the stack', () => {
  const { inert, machines, functions, outputs } = deployedWith({});
  const published = [...inert.values()]
    .filter(({ type }) => type === 'AWS::SSM::Parameter')
    .map(({ properties }) => [properties.Name, properties.Value]);
  expect(published).toEqual([
    ['/quiesce/before-deploy-arn', machines.get('BeforeDeploy')?.arn],
    ['/quiesce/after-deploy-arn', machines.get('AfterDeploy')?.arn],
    ['/quiesce/service-token', outputs.ServiceToken],
  ]);
  // Unqualified, and of a name that no update changes: CloudFormation cannot change a ServiceToken.
  expect(outputs.ServiceToken).toBe(functions.get('CustomResourceFunction')?.arn);
  expect(outputs.ServiceToken).toMatch(/:function:quiesce-custom-resource$/);
});

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';

test('a key of the account encrypts the log group; without one there is none', () => {
  const keyOf = (parameters: Readonly<Record<string, string>>) =>
    deployedWith(parameters).inert.get('Logs')?.properties.KmsKeyId;
  expect([keyOf({ KmsKeyArn: KEY }), keyOf({})]).toEqual([KEY, undefined]);
  expect(() => deployedWith({ KmsKeyArn: 'my-key' })).toThrow('KmsKeyArn');
});

test('traces can be switched on, and only on or off', () => {
  expect(() => deployedWith({ Tracing: 'Active' })).not.toThrow();
  expect(() => deployedWith({ Tracing: 'Sometimes' })).toThrow('Tracing');
});

test('the version that the Serverless Application Repository shows is that of package.json', () => {
  const { Metadata } = readYaml(readFileSync(templatePath, 'utf8'), 'template.yaml');
  const { version, license } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  expect(object(object(Metadata)['AWS::ServerlessRepo::Application'])).toMatchObject({
    SemanticVersion: version,
    SpdxLicenseId: license,
  });
});

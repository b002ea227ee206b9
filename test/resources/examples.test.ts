import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readYaml, section } from '../../local/stack/template-text.ts';
import { product } from '../template/helpers/product.ts';

const terraform = readFileSync('examples/terraform/checked-fleet.tf', 'utf8');
const template = readYaml(readFileSync('examples/cloudformation/checked-fleet.yaml', 'utf8'), 'the example');

const named = (pattern: RegExp): string[] => [...terraform.matchAll(pattern)].map(([, name = '']) => name);

test('the Terraform example names what the template, and the stack that it makes, really have', () => {
  const [block = ''] = /parameters = \{[^}]*\}/.exec(terraform) ?? [];
  const given = [...block.matchAll(/^\s+(\w+)\s+= /gm)].map(([, name]) => name);
  expect(given).toEqual(Object.keys(section(template, 'Parameters')));
  const outputs = named(/outputs\["(\w+)"\]/g);
  expect(outputs).toHaveLength(2);
  for (const output of outputs) expect(section(template, 'Outputs')).toHaveProperty(output);
  const published = [...product.inert.values()].map(({ properties }) => properties.Name);
  const parameters = named(/name = "(\/quiesce\/[\w-]+)"/g);
  expect(parameters).toHaveLength(2);
  for (const parameter of parameters) expect(published).toContain(parameter);
});

test('the Terraform example closes what it opens, and refers to nothing that it does not declare', () => {
  const code = terraform.replaceAll(/#.*$/gm, '').replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  expect(code.match(/[{[(]/g)?.length).toBe(code.match(/[}\])]/g)?.length);
  const declared = [
    ...[...terraform.matchAll(/^(resource|data) "(\w+)" "(\w+)"/gm)].map(([, kind, type, name]) =>
      kind === 'data' ? `data.${type}.${name}` : `${type}.${name}`,
    ),
    ...named(/^variable "(\w+)"/gm).map(name => `var.${name}`),
  ];
  const used = [...terraform.matchAll(/\b(var\.\w+|data\.\w+\.\w+|aws_cloudformation_stack\.\w+)/g)].map(
    ([name]) => name,
  );
  expect(used.length).toBeGreaterThan(8);
  expect(used.filter(name => !declared.includes(name))).toEqual([]);
});

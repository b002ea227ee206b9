import { expect, test } from 'vitest';
import { machineFaults } from '../../local/validation/machine-faults.ts';
import { templateFaults } from '../../local/validation/template-faults.ts';
import {
  brokenDefinition,
  brokenTemplate,
  everyMachine,
  machines,
  product,
  templatePath,
} from './helpers/product.ts';

test('cloudformation-validate finds nothing wrong with the template', () => {
  expect(templateFaults(templatePath, product)).toEqual([]);
});

test.each([
  ['BillingMode: PAY_PER_REQUEST', 'BillingMode: PAY_LATER', 'PAY_LATER'],
  ['AttributeType: S', 'AttributeKind: S', 'AttributeKind'],
  ['!Ref UndoFunction.Version', '!Ref UndoFunctions.Version', 'UndoFunctions.Version'],
])('cloudformation-validate finds a template with %s replaced by %s', (passage, replacement, fault) => {
  const { path } = brokenTemplate(passage, replacement);
  expect(templateFaults(path, product)).toContainEqual(expect.stringContaining(fault));
});

test.each(everyMachine)('asl-validator and the local runner find nothing wrong with %s', (_, definition) => {
  expect(machineFaults(definition)).toEqual([]);
});

test.each([
  ['"Next":"LetActsEnd"', '"Next":"LetActsEnds"', 'MISSING_TRANSITION_TARGET'],
  ['"Next":"LetActsEnd"', '"Next":"LetActsEnds"', "there is no state 'LetActsEnds'"],
  ['$ended.error', '$endet.error', '$endet'],
  ['"Type":"Wait"', '"Type":"Weight"', 'SCHEMA_VALIDATION_FAILED'],
])('a machine with %s replaced by %s is found: %s', (passage, replacement, fault) => {
  for (const [, definition] of machines) {
    const broken = brokenDefinition(definition, passage, replacement);
    expect(machineFaults(broken)).toContainEqual(expect.stringContaining(fault));
  }
});

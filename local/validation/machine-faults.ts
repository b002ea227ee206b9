import validate from 'asl-validator';
import type { JsonObject } from '../stack/json.ts';
import { compileMachine } from '../states/compile.ts';
import { DefinitionRefused } from '../states/failure.ts';

/** What asl-validator, and the runner that the tests use, find wrong with a definition after its substitutions. */
export const machineFaults = (definition: JsonObject): readonly string[] => [
  // A copy, because asl-validator writes into what it checks.
  ...validate(structuredClone(definition)).errors.map(fault => `${fault['Error code']}: ${fault.Message}`),
  ...compilerFaults(definition),
];

function compilerFaults(definition: JsonObject): readonly string[] {
  try {
    compileMachine(definition);
    return [];
  } catch (error) {
    if (error instanceof DefinitionRefused) return error.problems;
    throw error;
  }
}

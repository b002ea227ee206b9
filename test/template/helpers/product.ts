import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createWorld } from '../../../local/account/world.ts';
import type { DeployedTemplate } from '../../../local/stack/deployed-template.ts';
import type { JsonObject } from '../../../local/stack/json.ts';
import { readTemplate } from '../../../local/stack/template.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

export const templatePath = join(repository, 'template.yaml');

const read = (path: string): DeployedTemplate => readTemplate({ world: createWorld(), path });

/** What template.yaml would deploy. */
export const product = read(templatePath);

/** A copy of the template with one passage replaced, at its last place, to show that a check finds a fault. */
export function brokenTemplate(passage: string, replacement: string) {
  const directory = mkdtempSync(join(tmpdir(), 'broken-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  cpSync(join(repository, 'statemachines'), join(directory, 'statemachines'), { recursive: true });
  const path = join(directory, 'template.yaml');
  writeFileSync(path, replaced(readFileSync(templatePath, 'utf8'), passage, replacement));
  return { path, read: () => read(path) };
}

/** A copy of a definition with one passage of its JSON replaced, at its last place: at the machine's own level. */
export const brokenDefinition = (definition: JsonObject, passage: string, replacement: string): JsonObject =>
  JSON.parse(replaced(JSON.stringify(definition), passage, replacement));

function replaced(text: string, passage: string, replacement: string): string {
  const place = text.lastIndexOf(passage);
  if (place < 0) throw new Error(`${passage} is not there to be broken`);
  return text.slice(0, place) + replacement + text.slice(place + passage.length);
}

/** Every machine, for `test.each`. */
export const everyMachine = [...product.machines.values()].map(
  ({ logicalId, definition }) => [logicalId, definition] as const,
);

/** Those that attend Auto Scaling lifecycle actions: they have no run, and so nothing to undo. */
const ATTENDING = new Set(['InstanceLaunch', 'InstanceTermination']);
export const attendingMachines = everyMachine.filter(([name]) => ATTENDING.has(name));

/** The one that serves requests of CloudFormation: what it undoes is its own, and then it answers. */
const ANSWERING = 'ServeResource';
export const answeringMachines = everyMachine.filter(([name]) => name === ANSWERING);

/** The machines of the bracket, which undo what has failed. */
export const machines = everyMachine.filter(
  ([name]) =>
    !['TellPeople', 'PromoteCheck', 'RetireCheck', 'ReconcileAlarms', ANSWERING].includes(name) &&
    !ATTENDING.has(name),
);

/** Those that undo what has failed: a run, or an adoption. */
export const undoingMachines = everyMachine.filter(
  ([name]) => name === 'PromoteCheck' || machines.some(([other]) => other === name),
);

/** Those whose body is caught to a fence; what RetireCheck has deleted cannot be undone. */
export const fencedMachines = everyMachine.filter(
  ([name]) => name === 'RetireCheck' || undoingMachines.some(([other]) => other === name),
);

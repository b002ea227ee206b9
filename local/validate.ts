/** `npm run validate`: what can be checked of the deployable without an AWS account. Fails when anything is wrong. */
import { fileURLToPath } from 'node:url';
import { createWorld } from './account/world.ts';
import { failCommand } from './failed-command.ts';
import { readTemplate } from './stack/template.ts';
import { machineFaults } from './validation/machine-faults.ts';
import { templateFaults } from './validation/template-faults.ts';

async function main(): Promise<void> {
  const path = fileURLToPath(new URL('../template.yaml', import.meta.url));
  const template = readTemplate({ world: createWorld(), path });
  report('template.yaml (cloudformation-validate)', templateFaults(path, template));
  for (const { logicalId, definition } of template.machines.values())
    report(`${logicalId} (asl-validator, local runner)`, machineFaults(definition));
}

function report(what: string, faults: readonly string[]): void {
  console.log(`${what}: ${faults.length === 0 ? 'nothing wrong' : `${faults.length} wrong`}`);
  for (const fault of faults) console.log(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

main().catch(failCommand);

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { adoptionRequest } from '../functions/core/adoption-request.ts';
import { afterRequest, runRequest } from '../functions/core/request.ts';
import { retirementRequest } from '../functions/core/retirement-request.ts';
import { memberTable } from './member-table.ts';
import { scenario } from './simulate/scenario.ts';

/** The JSON Schemas that are published: what the machines and the simulation read, as it is read. */
export const publishedSchemas: Readonly<Record<string, string>> = {
  'before-deploy.schema.json': published('Input of the machine BeforeDeploy', runRequest),
  'after-deploy.schema.json': published('Input of the machine AfterDeploy', afterRequest),
  'promote-check.schema.json': published('Input of the machine PromoteCheck', adoptionRequest),
  'retire-check.schema.json': published('Input of the machine RetireCheck', retirementRequest),
  'scenario.schema.json': published('A scenario of `quiesce simulate`', scenario),
};

function published(title: string, schema: z.core.$ZodType): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`;
}

const PAGE = new URL('../docs/scenarios.md', import.meta.url);
const TABLE = /(?<=<!-- members -->\n)[\s\S]*(?=\n<!-- \/members -->)/;

/** docs/scenarios.md as it stands, and with every member that a scenario has. */
export function scenarioPage(): { readonly onDisk: string; readonly complete: string } {
  const onDisk = readFileSync(PAGE, 'utf8');
  const members = memberTable(z.toJSONSchema(scenario, { io: 'input' }));
  return { onDisk, complete: onDisk.replace(TABLE, () => members) };
}

const FOLDER = new URL('../schemas/', import.meta.url);

/** The file as it stands in the repository; undefined when there is none. */
export function schemaOnDisk(name: string): string | undefined {
  try {
    return readFileSync(new URL(name, FOLDER), 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(publishedSchemas)) writeFileSync(new URL(name, FOLDER), text);
  writeFileSync(PAGE, scenarioPage().complete);
}

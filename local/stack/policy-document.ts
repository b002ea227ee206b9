import { isList, isObject, type Json, type JsonObject } from './json.ts';
import type { ResourceStatement, Statement } from './permissions.ts';
import { readCondition } from './policy-conditions.ts';

const STATEMENT_MEMBERS = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Condition']);

/**
 * Reads the statements of an identity policy document whose intrinsics are resolved.
 *
 * @throws Error on anything that the simulated account cannot interpret: NotAction, NotResource, wildcards in actions,
 * unknown members, operators or condition keys
 */
export function readPolicy(document: Json, where: string): readonly Statement[] {
  return statementsOf(document, where).map((statement, place) => readStatement(statement, place, where));
}

/** The same for a resource policy, whose statements have a Principal. */
export function readResourcePolicy(document: Json, where: string): readonly ResourceStatement[] {
  return statementsOf(document, where).map(({ Principal, ...statement }, place) => ({
    ...readStatement(statement, place, where),
    principals: principalsOf(Principal, where),
  }));
}

function statementsOf(document: Json, where: string): readonly JsonObject[] {
  if (!isObject(document)) throw new Error(`${where}: a policy document is expected`);
  const { Version, Statement, Id: _, ...unknown } = document;
  refuseMembers(unknown, where);
  if (Version !== '2012-10-17') throw new Error(`${where}: the policy's Version has to be 2012-10-17`);
  return (isList(Statement) ? Statement : [Statement]).map(statement => {
    if (!isObject(statement)) throw new Error(`${where}: a policy needs a list of statements`);
    return statement;
  });
}

function readStatement(statement: JsonObject, place: number, document: string): Statement {
  const sid = typeof statement.Sid === 'string' ? statement.Sid : `Statement${place + 1}`;
  const where = `${document}, ${sid}`;
  refuseMembers(
    Object.fromEntries(Object.entries(statement).filter(([member]) => !STATEMENT_MEMBERS.has(member))),
    where,
  );
  const { Effect } = statement;
  if (Effect !== 'Allow' && Effect !== 'Deny') throw new Error(`${where}: Effect has to be Allow or Deny`);
  const actions = strings(statement.Action, where, 'Action');
  for (const action of actions)
    if (!/^[a-z0-9-]+:[A-Za-z0-9]+$/.test(action))
      throw new Error(`${where}: the action ${action} is refused; name each action, without wildcards`);
  const resources = strings(statement.Resource, where, 'Resource');
  for (const resource of resources)
    if (resource.includes('${') || !(resource === '*' || resource.startsWith('arn:')))
      throw new Error(`${where}: the resource ${resource} is neither an ARN nor *`);
  return { sid, effect: Effect, actions, resources, conditions: conditionsOf(statement.Condition, where) };
}

function conditionsOf(block: Json | undefined, where: string): Statement['conditions'] {
  if (block === undefined) return [];
  if (!isObject(block)) throw new Error(`${where}: Condition has to be a map of operators`);
  return Object.entries(block).flatMap(([operator, keys]) => {
    if (!isObject(keys)) throw new Error(`${where}: the condition ${operator} has to be a map of keys`);
    return Object.entries(keys).map(([key, values]) =>
      readCondition(operator, key, strings(values, where, key), where),
    );
  });
}

function principalsOf(principal: Json | undefined, where: string): readonly string[] {
  if (principal === '*') return ['*'];
  if (!isObject(principal)) throw new Error(`${where}: a resource policy's statement needs a Principal`);
  return Object.values(principal).flatMap(names => strings(names, where, 'Principal'));
}

function strings(value: Json | undefined, where: string, what: string): readonly string[] {
  const list = isList(value) ? value : [value];
  return list.map(item => {
    if (typeof item === 'string') return item;
    if (typeof item === 'boolean' || typeof item === 'number') return String(item);
    throw new Error(`${where}: ${what} has to be a string or a list of strings`);
  });
}

function refuseMembers(unknown: JsonObject, where: string): void {
  const [member] = Object.keys(unknown);
  if (member !== undefined) throw new Error(`${where}: the member ${member} is not implemented`);
}

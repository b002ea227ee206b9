import type * as z from 'zod/mini';
import { readOrFaults } from '../faults.ts';
import { readRequest } from '../request.ts';
import {
  type AssociationProperties,
  associationProperties,
  guardProperties,
  type ResourceRequest,
} from './request.ts';

/**
 * The properties that a request asks for. Of a deletion they are undefined when they are wrong: nothing can have been made of
 * them, and a deletion that is refused keeps the stack.
 *
 * @throws InvalidRequest
 */
export function propertiesOf<S extends z.core.$ZodType>(
  schema: S,
  { RequestType, ResourceProperties }: ResourceRequest,
): z.output<S> | undefined {
  if (RequestType !== 'Delete') return readRequest(schema, ResourceProperties);
  return readOr(schema, ResourceProperties);
}

/** Undefined when they are wrong. */
export function readOr<S extends z.core.$ZodType>(schema: S, given: unknown): z.output<S> | undefined {
  const read = readOrFaults(schema, given);
  return read.faults ? undefined : read.data;
}

/**
 * The PhysicalResourceId of what a request asks for. Another one than before is a replacement: CloudFormation deletes the old
 * one when everything else is updated, so that a rollback still finds it.
 */
export function physicalIdOf(request: ResourceRequest): string {
  const { PhysicalResourceId, LogicalResourceId, RequestId, ResourceProperties } = request;
  const association = readOr(associationProperties, ResourceProperties);
  const guard = readOr(guardProperties, ResourceProperties);
  if (association) return associationId(association);
  if (guard) return `guard/${guard.SecurityGroupId}`;
  return PhysicalResourceId ?? `${LogicalResourceId}-${RequestId}`;
}

/** A list of instances is changed in place: what is in the old one and in the new one is not let go in between. */
const associationId = ({ CheckId, Tag }: AssociationProperties): string =>
  `${CheckId}/${Tag ? `${Tag.Key}=${Tag.Value}` : 'instances'}`;

import type { CheckAssociation } from '../aws/check-associations.ts';

const KEY = 'aws:autoscaling:groupName';

/** The tag by which a check is on a whole group, with whatever it launches. */
export const groupTag = (group: string) => ({ key: KEY, value: group });

export const isOnGroup = (association: CheckAssociation, group: string): boolean =>
  groupIn(association) === group;

/** The Auto Scaling group that an association holds whole; undefined when it is of another kind. */
export const groupIn = (association: CheckAssociation): string | undefined =>
  'tag' in association && association.tag.key === KEY ? association.tag.value : undefined;

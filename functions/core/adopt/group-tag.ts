import type { CheckAssociation } from '../aws/check-associations.ts';

/** Auto Scaling gives it to every instance that it launches, with the group's name. */
export const GROUP_TAG_KEY = 'aws:autoscaling:groupName';

/** The tag by which a check is on a whole group, with whatever it launches. */
export const groupTag = (group: string) => ({ key: GROUP_TAG_KEY, value: group });

export const isOnGroup = (association: CheckAssociation, group: string): boolean =>
  groupIn(association) === group;

/** The Auto Scaling group that an association holds whole; undefined when it is of another kind. */
export const groupIn = (association: CheckAssociation): string | undefined =>
  'tag' in association && association.tag.key === GROUP_TAG_KEY ? association.tag.value : undefined;

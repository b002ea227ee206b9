export type { TimelineData } from './timeline/data.ts';
export { renderTimeline } from './timeline/page.ts';
export { type RunTimelineSettings, timelineOfRun } from './timeline/run.ts';
export { type TimelineSettings, timelineOfSimulation } from './timeline/simulation.ts';

// Where the time of the run that made the cluster went, of all machines together.
import { waterfallSvg } from '../../../waterfall/waterfall-svg.ts';
import { waterfallText } from '../../../waterfall/waterfall-text.ts';
import type { ClusterCollector } from '../cluster-collector.ts';

export const waterfallPicture = 'timeline/waterfall.svg';

export const timelineCollector: ClusterCollector = {
  name: 'timeline',
  takes: 'when each step of create cluster happened on each machine, as data, text and picture',
  collect: async (sources, contents) => {
    const waterfall = await sources.waterfall();
    contents.add('timeline/waterfall.json', JSON.stringify(waterfall));
    contents.add('timeline/waterfall.txt', waterfallText(waterfall));
    contents.add(waterfallPicture, waterfallSvg(waterfall));
  },
};

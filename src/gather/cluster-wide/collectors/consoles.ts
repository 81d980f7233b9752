// What the programs that run the machines said, also of machines that never booted.
import { troubleText } from '../../trouble-text.ts';
import type { ClusterCollector } from '../cluster-collector.ts';

export const consolesCollector: ClusterCollector = {
  name: 'consoles',
  takes: 'what the programs that run the machines on this host printed',
  collect: async ({ host, machines, signal }, contents) => {
    for (const { name, outside } of machines) {
      if (outside === undefined) continue;
      try {
        const [program, ...args] = await outside.console();
        const { stdout } = await host.processes.run(program, args, { signal });
        contents.add(`serial/${name}.log`, stdout);
      } catch (error) {
        contents.miss(`serial/${name}.log`, troubleText(error));
      }
    }
  },
};

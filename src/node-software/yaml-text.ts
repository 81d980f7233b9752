// YAML for readers written in Go. The writer's defaults would leave `on`, `NO` and `1_000` bare, which Go's YAML 1.1
// takes for true, false and 1000; and no reader of ours needs aliases or folded lines.
import { stringify } from 'yaml';

export function yamlText(value: object): string {
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

// The icons that pages of plugins choose from.
import { Bell, ChartLine, FileText, Globe, List, Plug, Users, Wrench, type LucideIcon } from 'lucide-react';
import type { PageIcon } from '../../page-icons.js';

const ICONS: Readonly<Record<PageIcon, LucideIcon>> = {
  chart: ChartLine,
  list: List,
  file: FileText,
  globe: Globe,
  bell: Bell,
  wrench: Wrench,
  users: Users,
  plug: Plug,
};
export const iconOf = (name: string): LucideIcon => ICONS[name as PageIcon] ?? Plug;

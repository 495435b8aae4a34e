// What the page knows of clients is asked for again.
import { queries } from '../api/queries.js';

export function refreshClients(): void {
  void queries.invalidateQueries({ queryKey: ['client'] });
  void queries.invalidateQueries({ queryKey: ['clients'] });
}

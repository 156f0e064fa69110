// Colours of bodies. Models name them; only known names and #rrggbb are taken.

const named: Record<string, string> = {
  steel: '#8fa3b8', black: '#464c56', orange: '#d9822b', brass: '#c9a24a', gray: '#98a2ad', grey: '#98a2ad',
  white: '#e9edf2', red: '#c4514a', green: '#5fa777', blue: '#5b8fc7', yellow: '#d8b93f', purple: '#8d7cc0',
  brown: '#94694a', copper: '#b87345', silver: '#b9c3ce', gold: '#d1a83c', pink: '#d58aa8', cyan: '#6bb3bf',
};
const cycle = ['#5b8fc7', '#d68a3c', '#5fa777', '#b8689b', '#c9b04a', '#6bb3bf', '#c4615a', '#8d7cc0'];

export function colour(name: string | undefined, bodyNumber: number): string {
  if (!name) return bodyNumber < 0 ? named.grey : cycle[bodyNumber % cycle.length];
  const known = Object.hasOwn(named, name.toLowerCase()) ? named[name.toLowerCase()] : undefined;
  return known ?? (/^#[0-9a-f]{6}$/i.test(name) ? name : named.grey);
}

export const curveColours = {
  light: ['#1f77b4', '#e8720c', '#2a9d5c', '#c2459a', '#8a6d00', '#119aa8'],
  dark: ['#6db3ff', '#ffab57', '#5fd394', '#f08ccb', '#e3c94f', '#5fd6e2'],
};

// The image that holds a pod's namespaces, by the name under which the release carries it.
export const pauseImage = 'release.firstlight.internal/pause:v1.0.0';

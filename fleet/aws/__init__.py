"""What AWS sells, as tables. ids and images have no twin here: ARNs and parameters' names follow from one line each."""

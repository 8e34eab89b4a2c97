"""What Pulumi starts as the plugin `landbridge`, see PulumiPlugin.yaml."""

from stacks.package.host import main

if __name__ == "__main__":
    main()
